package dev.perdure.testing.scenarios;

class MemoryMisuseScenariosTest extends MisuseScenarios implements InMemory {}
