package dev.perdure.testing.scenarios;

class MemoryDagStartScenariosTest extends DagStartScenarios implements InMemory {}
