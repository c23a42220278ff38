package dev.perdure.testing.scenarios;

class MemoryPublishScenariosTest extends PublishScenarios implements InMemory {}
