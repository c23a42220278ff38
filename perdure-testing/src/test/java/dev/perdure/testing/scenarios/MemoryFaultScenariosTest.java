package dev.perdure.testing.scenarios;

class MemoryFaultScenariosTest extends FaultScenarios implements InMemory {}
