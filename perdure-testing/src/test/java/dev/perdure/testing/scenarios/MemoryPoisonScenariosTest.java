package dev.perdure.testing.scenarios;

class MemoryPoisonScenariosTest extends PoisonScenarios implements InMemory {}
