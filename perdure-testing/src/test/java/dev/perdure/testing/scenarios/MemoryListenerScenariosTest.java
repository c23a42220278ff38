package dev.perdure.testing.scenarios;

class MemoryListenerScenariosTest extends ListenerScenarios implements InMemory {}
