package dev.perdure.testing.scenarios;

class MemoryLogLineScenariosTest extends LogLineScenarios implements InMemory {}
