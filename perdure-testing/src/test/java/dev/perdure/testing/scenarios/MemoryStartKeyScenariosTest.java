package dev.perdure.testing.scenarios;

class MemoryStartKeyScenariosTest extends StartKeyScenarios implements InMemory {}
