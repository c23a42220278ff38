package dev.perdure.testing.scenarios;

class MemoryHistoryScenariosTest extends HistoryScenarios implements InMemory {}
