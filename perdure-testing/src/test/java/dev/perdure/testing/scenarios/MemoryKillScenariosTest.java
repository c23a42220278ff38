package dev.perdure.testing.scenarios;

class MemoryKillScenariosTest extends KillScenarios implements InMemory {}
