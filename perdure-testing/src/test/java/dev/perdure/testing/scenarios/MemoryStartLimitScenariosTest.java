package dev.perdure.testing.scenarios;

class MemoryStartLimitScenariosTest extends StartLimitScenarios implements InMemory {}
