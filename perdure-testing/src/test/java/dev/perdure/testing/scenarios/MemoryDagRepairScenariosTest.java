package dev.perdure.testing.scenarios;

class MemoryDagRepairScenariosTest extends DagRepairScenarios implements InMemory {}
