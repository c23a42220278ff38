package dev.perdure.testing.scenarios;

class MemoryContinueAsNewScenariosTest extends ContinueAsNewScenarios implements InMemory {}
