package dev.perdure.testing.scenarios;

class MemoryRetentionScenariosTest extends RetentionScenarios implements InMemory {}
