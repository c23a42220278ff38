package dev.perdure.testing.scenarios;

class MemoryErrorScenariosTest extends ErrorScenarios implements InMemory {}
