package dev.perdure.testing.scenarios;

class MemoryObjectCallScenariosTest extends ObjectCallScenarios implements InMemory {}
