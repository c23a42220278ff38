package dev.perdure.testing.scenarios;

class MemoryDeadlineScenariosTest extends DeadlineScenarios implements InMemory {}
