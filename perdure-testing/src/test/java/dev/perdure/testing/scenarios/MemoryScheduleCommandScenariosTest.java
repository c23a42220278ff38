package dev.perdure.testing.scenarios;

class MemoryScheduleCommandScenariosTest extends ScheduleCommandScenarios implements InMemory {}
