package dev.perdure.testing.scenarios;

class MemoryBulkScenariosTest extends BulkScenarios implements InMemory {}
