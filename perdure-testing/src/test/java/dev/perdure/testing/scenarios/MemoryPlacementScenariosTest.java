package dev.perdure.testing.scenarios;

class MemoryPlacementScenariosTest extends PlacementScenarios implements InMemory {}
