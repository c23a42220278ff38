package dev.perdure.testing.scenarios;

class MemoryLimiterScenariosTest extends LimiterScenarios implements InMemory {}
