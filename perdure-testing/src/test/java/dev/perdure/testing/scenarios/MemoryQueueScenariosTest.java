package dev.perdure.testing.scenarios;

class MemoryQueueScenariosTest extends QueueScenarios implements InMemory {}
