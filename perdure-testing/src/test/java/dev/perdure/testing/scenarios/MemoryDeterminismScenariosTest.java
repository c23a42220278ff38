package dev.perdure.testing.scenarios;

class MemoryDeterminismScenariosTest extends DeterminismScenarios implements InMemory {}
