package dev.perdure.testing.scenarios;

class MemoryProgressScenariosTest extends ProgressScenarios implements InMemory {}
