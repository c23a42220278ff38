package dev.perdure.testing.scenarios;

class MemoryLargePayloadScenariosTest extends LargePayloadScenarios implements InMemory {}
