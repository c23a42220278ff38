package dev.perdure.testing.scenarios;

class MemoryDagCodeScenariosTest extends DagCodeScenarios implements InMemory {}
