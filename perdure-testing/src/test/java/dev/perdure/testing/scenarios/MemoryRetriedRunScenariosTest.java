package dev.perdure.testing.scenarios;

class MemoryRetriedRunScenariosTest extends RetriedRunScenarios implements InMemory {}
