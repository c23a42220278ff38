package dev.perdure.testing.scenarios;

class MemoryTreeScenariosTest extends TreeScenarios implements InMemory {}
