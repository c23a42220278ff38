package dev.perdure.testing.scenarios;

class MemoryFullKeyScenariosTest extends FullKeyScenarios implements InMemory {}
