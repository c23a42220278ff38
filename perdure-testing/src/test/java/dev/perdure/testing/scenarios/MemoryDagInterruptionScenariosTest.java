package dev.perdure.testing.scenarios;

class MemoryDagInterruptionScenariosTest extends DagInterruptionScenarios implements InMemory {}
