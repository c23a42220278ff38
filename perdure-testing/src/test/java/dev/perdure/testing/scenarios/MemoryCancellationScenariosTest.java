package dev.perdure.testing.scenarios;

class MemoryCancellationScenariosTest extends CancellationScenarios implements InMemory {}
