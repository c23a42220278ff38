package dev.perdure.testing.scenarios;

class MemoryAwaitedScenariosTest extends AwaitedScenarios implements InMemory {}
