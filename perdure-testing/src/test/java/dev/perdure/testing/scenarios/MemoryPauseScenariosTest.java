package dev.perdure.testing.scenarios;

class MemoryPauseScenariosTest extends PauseScenarios implements InMemory {}
