package dev.perdure.testing.scenarios;

class MemoryObjectStateScenariosTest extends ObjectStateScenarios implements InMemory {}
