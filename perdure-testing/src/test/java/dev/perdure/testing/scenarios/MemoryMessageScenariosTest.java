package dev.perdure.testing.scenarios;

class MemoryMessageScenariosTest extends MessageScenarios implements InMemory {}
