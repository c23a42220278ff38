package dev.perdure.testing.scenarios;

class MemoryPromiseScenariosTest extends PromiseScenarios implements InMemory {}
