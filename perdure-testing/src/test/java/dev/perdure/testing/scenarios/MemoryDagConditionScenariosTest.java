package dev.perdure.testing.scenarios;

class MemoryDagConditionScenariosTest extends DagConditionScenarios implements InMemory {}
