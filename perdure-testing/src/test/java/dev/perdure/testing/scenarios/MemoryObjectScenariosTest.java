package dev.perdure.testing.scenarios;

class MemoryObjectScenariosTest extends ObjectScenarios implements InMemory {}
