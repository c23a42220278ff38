package dev.perdure.testing.scenarios;

class MemoryListingScenariosTest extends ListingScenarios implements InMemory {}
