package dev.perdure.testing.scenarios;

class MemoryDagForEachScenariosTest extends DagForEachScenarios implements InMemory {}
