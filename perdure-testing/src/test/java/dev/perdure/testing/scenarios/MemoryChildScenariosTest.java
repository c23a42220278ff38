package dev.perdure.testing.scenarios;

class MemoryChildScenariosTest extends ChildScenarios implements InMemory {}
