package dev.perdure.testing.scenarios;

class MemoryTimerScenariosTest extends TimerScenarios implements InMemory {}
