package dev.perdure.testing.scenarios;

class MemoryCrashScenariosTest extends CrashScenarios implements InMemory {}
