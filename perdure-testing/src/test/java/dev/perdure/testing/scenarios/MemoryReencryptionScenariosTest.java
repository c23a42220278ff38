package dev.perdure.testing.scenarios;

class MemoryReencryptionScenariosTest extends ReencryptionScenarios implements InMemory {}
