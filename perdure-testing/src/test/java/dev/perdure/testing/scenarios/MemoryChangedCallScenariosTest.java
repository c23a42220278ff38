package dev.perdure.testing.scenarios;

class MemoryChangedCallScenariosTest extends ChangedCallScenarios implements InMemory {}
