package dev.perdure.testing.scenarios;

class MemoryEventScenariosTest extends EventScenarios implements InMemory {}
