package dev.perdure.testing.scenarios;

class MemorySwallowingScenariosTest extends SwallowingScenarios implements InMemory {}
