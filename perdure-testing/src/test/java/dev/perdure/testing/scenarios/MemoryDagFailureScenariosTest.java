package dev.perdure.testing.scenarios;

class MemoryDagFailureScenariosTest extends DagFailureScenarios implements InMemory {}
