package dev.perdure.testing.scenarios;

class MemoryStartingScenariosTest extends StartingScenarios implements InMemory {}
