package dev.perdure.testing.scenarios;

class MemoryCombinatorScenariosTest extends CombinatorScenarios implements InMemory {}
