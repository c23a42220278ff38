package dev.perdure.testing.scenarios;

class MemoryScheduleScenariosTest extends ScheduleScenarios implements InMemory {}
