package dev.perdure.testing.scenarios;

class MemoryRetryScenariosTest extends RetryScenarios implements InMemory {}
