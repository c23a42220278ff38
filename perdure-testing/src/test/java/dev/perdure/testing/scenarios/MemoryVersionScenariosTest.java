package dev.perdure.testing.scenarios;

class MemoryVersionScenariosTest extends VersionScenarios implements InMemory {}
