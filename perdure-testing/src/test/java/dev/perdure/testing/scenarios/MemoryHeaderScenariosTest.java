package dev.perdure.testing.scenarios;

class MemoryHeaderScenariosTest extends HeaderScenarios implements InMemory {}
