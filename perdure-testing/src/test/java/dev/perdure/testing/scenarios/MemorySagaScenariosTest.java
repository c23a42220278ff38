package dev.perdure.testing.scenarios;

class MemorySagaScenariosTest extends SagaScenarios implements InMemory {}
