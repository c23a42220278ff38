package dev.perdure.testing.scenarios;

class MemoryAttributeScenariosTest extends AttributeScenarios implements InMemory {}
