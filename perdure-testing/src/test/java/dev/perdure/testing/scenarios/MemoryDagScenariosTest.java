package dev.perdure.testing.scenarios;

class MemoryDagScenariosTest extends DagScenarios implements InMemory {}
